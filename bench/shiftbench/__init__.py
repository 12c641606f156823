"""Measures covshift beside other packages where training and target differ, and where they do not.

    make shiftbench                          # installs the peers, measures what is not cached, writes docs/shiftbench.md
    make shiftbench QUICK=1                  # eight tasks; prints the summary, does not write the page
    make shiftbench METHODS="default lr"     # measures these again and keeps the rest
    make shiftbench DATA=folder              # where the shared tasks are (../shared/data)

tasks.py makes or reads the tasks; a method gets a `Given`, which has no labels of the target. own.py and peers.py
are the methods, metrics.py the scores, run.py the cache (probabilities, one file for a task and a method), judge.py
the figures that the default must reach, report.py and picture.py the page. study.py is the study behind the default's
rule (docs/choice-study.md), caution.py the picture of its dial (docs/choice.md), estimates.py how often compare's
estimates hold (docs/diagnose.md).
"""
