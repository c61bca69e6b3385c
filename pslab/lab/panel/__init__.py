"""The panel: controls and live plots of a lab, in a notebook.

`buckets`, `timeline` and `marks` turn step records into what is drawn; `feed` says what has changed of it. `controls` and `actions` are what can be
asked for; `desk` does it, one after the other. `panel` has the widgets, and ``front/`` what is drawn, and how.
"""
