"""What every other package speaks: values, protocols and failures. No I/O, no AWS, no third-party imports."""
