"""Measures the package beside other ways to capture what a command prints; `python -m tests.benchmarks --help`.

inputs     what the commands print: files of a size, the same bytes each time
stopwatch  wall time, CPU time, growth of memory and updates of one piece of work
programs   what is measured: each in a process of its own (pi.mjs is the one for Node)
peers      other people's packages, in an environment of their own
rounds     runs programs in turn, round by round, and keeps what each said
sections   which programs, on which input, and what is read from it
table      Markdown
"""
