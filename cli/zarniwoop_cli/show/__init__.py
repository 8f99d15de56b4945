"""What people see of each kind of answer, told apart by what it holds: a tool that comes later is shown as well."""
