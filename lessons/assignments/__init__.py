"""Assignments: starters, instant feedback and a grader. `README.md` is for instructors.

Everything here limits *accidents* (a hang, a crash, a memory bomb, a copied answer). It is no
security sandbox: run submissions of people you do not trust in a container of your own.
"""
