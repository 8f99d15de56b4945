"""`answer_questions`: a file of questions was put into the inbox; its answers are put beside it."""

from zarniwoop.entry.answer_questions import answer_questions

handler = answer_questions()
