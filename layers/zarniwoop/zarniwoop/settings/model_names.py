"""The settings of a model, `llm.<role>.<name>`: their kinds, defaults and meanings, beside `settings.names`."""

from zarniwoop.settings.names import API_KEY, BASE_URL, PROTOCOL, Suffix

MODEL_SETTINGS = (
    Suffix(
        name=PROTOCOL,
        kind="string",
        expects="openai, anthropic, bedrock or builtin",
        default="builtin",
        documentation="Wire format of the model; `builtin` asks none. `harvest` follows `primary` by default.",
    ),
    Suffix(
        name=BASE_URL,
        kind="string",
        expects="an http or https URL without user name, query or fragment",
        default="the protocol's own",
        documentation="Where the model is reached, for `openai` up to and including `/v1`.",
    ),
    Suffix(
        name=API_KEY,
        kind="password",
        expects="a key, saved as a SecureString",
        default="the protocol's environment variable",
        documentation="The endpoint's key; one at a base URL of its own may need none.",
    ),
    Suffix(
        name="model",
        kind="string",
        expects="a model id of at most 256 characters",
        default="required",
        documentation="Which model is asked, as the endpoint calls it.",
    ),
    Suffix(
        name="maxTokens",
        kind="int",
        expects="a whole number from 16 to 200000",
        default="2000",
        documentation="How much one answer may have, reasoning included; doubled once when reasoning used it up.",
    ),
    Suffix(
        name="contextTokens",
        kind="int",
        expects="a whole number from 1000 to 2000000",
        default="16000",
        documentation="How much the model reads at once; hits are put to it in batches of that size.",
    ),
    Suffix(
        name="temperature",
        kind="number",
        expects="a number from 0 to 2",
        default="not sent",
        documentation="Sampling temperature.",
    ),
    Suffix(
        name="structured",
        kind="string",
        expects="auto, json_schema, json_object or prompt",
        default="auto",
        documentation="How an answer in JSON is asked for; `auto` tries the strictest way first.",
    ),
    Suffix(
        name="costPerMillionInput",
        kind="number",
        expects="a number of at least 0",
        default="0",
        documentation="Price of a million tokens put in.",
    ),
    Suffix(
        name="costPerMillionOutput",
        kind="number",
        expects="a number of at least 0",
        default="0",
        documentation="Price of a million tokens written, reasoning included.",
    ),
    Suffix(
        name="timeoutSeconds",
        kind="number",
        expects="a number from 1 to 900",
        default="60",
        documentation="How long one answer may take.",
    ),
    Suffix(
        name="region",
        kind="string",
        expects="an AWS region",
        default="the stack's own",
        documentation="Where `bedrock` is asked.",
    ),
    Suffix(
        name="maxParallel",
        kind="int",
        expects="a whole number from 1 to 64",
        default="HARVEST_MAX_PARALLEL, else 4",
        documentation="How many calls an environment makes at once; counts for `harvest`.",
    ),
)
"""Of a model: `llm.primary.<name>` and `llm.harvest.<name>`."""
