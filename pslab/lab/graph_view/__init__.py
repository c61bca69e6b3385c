"""The graph view: the partitioned graph of the present mode, alive, in a notebook.

`parts` has what is in the plans of a mode; `folding` draws scopes together; `layers` and `rows` say what goes below and beside what; `scene` says where, as data
for JSON; `still` is a picture of that. `facts` has what is told of a part. `watch` says what has changed; `view` has the widget, and ``front/`` what it draws.
"""
