"""Which characters no reader sees, by what they are for: parts of a regex's character class.

Who takes which of them out is said where that is done: a joiner shapes a word of Persian, and cuts one of English.
https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point
"""

CONTROLS = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
"""Those that are white space are not among them."""
SPACE_CONTROLS = "\x0b\x0c\x1c-\x1f\x85"
SOFT_HYPHEN = "\u00ad"
ZERO_WIDTH = "\u200b\u2060-\u2065\ufeff"
JOINERS = "\u200c\u200d"
DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"
"""Letters and marks that have no shape of their own."""
SELECTORS = "\ufe00-\ufe0f"
TAGS = "\U000e0000-\U000e007f"
"""All of ASCII once more, unseen."""
MORE_SELECTORS = "\U000e0080-\U000e0fff"
UNSEEN = CONTROLS + SOFT_HYPHEN + ZERO_WIDTH + JOINERS + DIRECTION + FILLERS + SELECTORS + TAGS + MORE_SELECTORS
"""All of them, but for white space."""
