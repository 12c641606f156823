"""Measures covshift beside other packages: the same data, the same objective, in one run.

    make bench                                    # installs everything, measures, writes bench/RESULTS.md
    make bench PARTS="log-dense hinge-tiny"       # measures these again and keeps the rest

One process for each measurement, so that its peak memory is its own. The objective of every answer is
computed here, by one function (objective.py), from the weights that a package returns.

workloads.py draws the data, methods.py and shift.py speak to the packages, worker.py is the process of
one measurement, ladder.py and parts.py decide what is measured, report.py writes it up.
"""
