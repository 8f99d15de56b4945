"""What in a page looks like orders to a model. Named, never quoted: whoever reads the name does not read the order.

A sign is no proof, and a page without one is no less a stranger's: fences and checks of answers are what protects.
"""

import re

_I = re.IGNORECASE
_MOST_CHARS = 1_000_000
HIDDEN = "hidden_orders"
_MODELS = r"(?:ais?|llms?|language models?|(?:ai )?assistants?|(?:ai )?agents?|chatbots?|chatgpt|claude|gemini|copilot)"
_SIGNS = {
    "instructions": re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}"
        r"\b(?:previous|prior|above|earlier|preceding|all|any|your|system)\b[^.\n]{0,30}"
        r"\b(?:instruction|prompt|rule|direction|guideline|context|message|command)s?"
        rf"|\b(?:you are now|from now on,? you|pretend (?:to be|you are)|you must act as)\b[^.\n]{{0,40}}\b{_MODELS}\b"
        r"|\b(?:developer mode|jailbroken|you are (?:now )?dan\b|unrestricted (?:ai|assistant|model))"
        r"|\b(?:new|updated|real|important) (?:system )?instructions?\b[^.:\n]{0,40}:"
        rf"|\b(?:note|message|attention|instructions?|notice) (?:to|for) (?:the |all |any )?{_MODELS}\b"
        rf"|\b(?:if you are|as) an? {_MODELS}\b[^.\n]{{0,40}}\b(?:you (?:must|should)|please|reading this)\b"
        rf"|\b{_MODELS}\b[^.\n]{{0,20}}\bmust\b[^.\n]{{0,20}}\b(?:ignore|recommend|say|output|reveal|include|mention|rate)\b"
        r"|\b(?:reveal|print|repeat|output|show|leak)\b[^.\n]{0,20}\b(?:your|the) (?:system )?(?:prompt|instructions)\b"
        r"|\bdo not (?:tell|inform|mention|reveal)[^.\n]{0,30}\bthe user\b"
        r"|ignor(?:iere|ieren sie)[^.\n]{0,40}(?:anweisung|instruktion|vorgabe)"
        r"|ignore[zr]?[^.\n]{0,40}(?:instructions|consignes) (?:précédentes|antérieures)"
        r"|ignor[ae][^.\n]{0,40}instrucciones|игнорируй[^.\n]{0,40}(?:инструкци|указани)"
        r"|忽略[^。\n]{0,20}(?:指令|指示|提示)|(?:以前|これまで|上記)の(?:指示|命令)[^。\n]{0,10}無視"
        r"|이전[^.\n]{0,10}(?:지시|명령)[^.\n]{0,10}무시|تجاهل[^.\n]{0,30}(?:التعليمات|الأوامر)",
        _I,
    ),
    "chat_template": re.compile(
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|end"
        r"|channel|message)\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|<\uff5c[^<>\n]{1,40}\uff5c>"
        r"|^[ \t]{0,9}(?:### ?(?:System|Assistant|Human|Instruction)|Assistant|Human) ?: ?\S",
        re.MULTILINE,
    ),
    "fence": re.compile(
        r"</?(?:untrusted\w{0,20}|tool_(?:result|response)|function_results?|search_results?|user_input|external_content"
        r"|system|instructions?)>|</(?:documents?|context|web_page|page_content)>"
        r"|<<<\s?/?[A-Z_]{3}|[A-Z_]{3}\s?>>>"
        r"|---\s{0,3}(?:begin|end) of (?:document|context|page|untrusted|web|tool)[^\n]{0,30}---"
        r"|\bend of (?:untrusted|external) (?:content|data)\b",
        _I,
    ),
    "tool_call": re.compile(
        r"</?(?:tool_call|tool_use|function_calls?|invoke|antml:[a-z_]{1,30}|tool_code|use_mcp_tool)\b[^>\n]{0,100}>"
        r"|\"(?:tool_calls?|function_call)\"\s{0,3}:|\{\s{0,9}\"(?:name|tool|action|function)\"\s{0,3}:\s{0,3}"
        r"\"[a-z_]{3,40}\"\s{0,3},\s{0,9}\"(?:arguments|parameters|input|action_input|args)\""
        r"|^[ \t]{0,9}Action Input ?: ?\S",
        _I | re.MULTILINE,
    ),
    "exfiltration": re.compile(
        r"!\[[^\]\n]{0,100}\]\\?\(\s?https?://[^)\s]{0,300}[?&=]|https?://[^\s)\"'<>]{0,60}[?&=/](?:\{\{?|\[|<"
        r"|%7B|\$\{)[^\s)]{0,24}"
        r"(?:data|secret|key|token|password|prompt|conversation|history|context|answer|query|summary|message"
        r"|user|email|insert|your)"
        r"|\b(?:send|post|submit|upload|append|encode|exfiltrate)\b[^.\n]{0,60}\b(?:conversation|chat history"
        r"|api key|password|secrets?|credentials|system prompt"
        r"|user'?s? (?:data|email|messages?))\b[^.\n]{0,60}(?:https?://|\burl\b|@)",
        _I,
    ),
    "encoded_block": re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{160,}={0,2}(?![A-Za-z0-9+/=_-])"),
}  # fmt: skip


def signs(text: str, *, hidden: str = "") -> tuple[str, ...]:
    """The names of the signs in what is shown and in what was hidden; `hidden_orders` when any is among the latter."""
    shown = {name for name, pattern in _SIGNS.items() if pattern.search(text[:_MOST_CHARS])}
    concealed = {name for name, pattern in _SIGNS.items() if name != "encoded_block" and pattern.search(hidden)}
    return tuple(sorted(shown | concealed | ({HIDDEN} if concealed else set())))
