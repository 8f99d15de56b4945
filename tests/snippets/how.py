"""How every block of README and docs is run, by document and heading: one that is not named here fails the suite."""

from collections.abc import Callable, Mapping

from tests.snippets import documents, looked_at, readme

Key = tuple[str, str]

LOOKED_AT: Mapping[Key, Callable[..., None]] = {
    ("README.md", "How it is built"): looked_at.every_function_is_in_the_picture,
    ("docs/adding-a-provider.md", "Adding a provider"): looked_at.the_protocol_on_the_page_searches,
}
"""They need no stack, and get the section's blocks."""

RUN: Mapping[Key, Callable[..., None]] = {
    ("README.md", "Does it work?"): readme.the_demo,
    ("README.md", "The first answer"): readme.the_first_answer,
    ("README.md", "Use it"): readme.the_variables,
    ("README.md", "Claude"): readme.claude,
    ("README.md", "An OpenAI agent"): readme.openai_agent,
    ("README.md", "Any other agent, in Python"): readme.mcp_sdk,
    ("README.md", "LangChain"): readme.langchain,
    ("README.md", "curl"): readme.curl,
    ("README.md", "AWS"): readme.from_aws,
    ("README.md", "The command line"): readme.command_line,
    ("README.md", "Python"): readme.python,
    ("README.md", "Deploy to AWS"): readme.deploying,
    ("docs/api.md", "From the Anthropic SDK"): readme.anthropic_sdk,
    ("docs/api.md", "From AWS"): readme.queue_and_bus,
    ("docs/api.md", "Investigations"): documents.an_investigation,
    ("docs/settings.md", "Reading and changing them"): documents.settings,
    ("docs/operations.md", "The document of the API"): documents.the_document,
    ("docs/operations.md", "Standing queries"): documents.a_schedule,
    ("docs/operations.md", "Files of questions"): documents.a_file_of_questions,
    ("docs/operations.md", "Models"): documents.a_model,
    ("docs/operations.md", "Webhooks"): documents.the_secret_of_webhooks,
    ("docs/operations.md", "Documents of one's own"): documents.documents,
    ("docs/operations.md", "Pages that need a browser"): documents.deployments,
    ("docs/operations.md", "Reading pages"): documents.a_page,
    ("docs/operations.md", "Evidence"): documents.evidence,
    ("docs/operations.md", "The local stack"): documents.faults,
}
"""They get a `World`, and then the blocks."""
