#!/usr/bin/env python3
"""A program that works for long, at a terminal: it says how far it is and how long it will take, ends soon after Ctrl-C, and prints what it
has found.

    interrupted.py CODE LAST_LINE PROGRAM ARGUMENT…    LAST_LINE is a regular expression
"""
import os
import pty
import re
import signal
import subprocess
import sys

code, last_line, *command = sys.argv[1:]
terminal, standard_error = pty.openpty()
running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=standard_error, text=True)
os.close(standard_error)
shown = ""
try:
    while not re.search(r"\d+:\d\d left", shown):
        shown += os.read(terminal, 4096).decode()
except OSError:  # what Linux says where nobody has the other end any more
    sys.exit(f"it ended, and never said how long it would take: {shown!r}\n{running.communicate()[0]}")
running.send_signal(signal.SIGINT)
try:
    printed, _ = running.communicate(timeout=60)
except subprocess.TimeoutExpired:
    running.kill()
    sys.exit("it does not end")
lines = printed.splitlines() or [""]
if running.returncode != int(code) or not re.fullmatch(last_line, lines[-1]):
    sys.exit(f"it ended with {running.returncode}, not {code}, and its last line is: {lines[-1]}")
print(lines[-1])
