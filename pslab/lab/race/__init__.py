"""A race, drawn: a lane for each ps and each worker, and what went between them, message after message.

`scene` turns what is known of a race into what is drawn; `feed` says whether it has changed; `actions` are what can be asked for. `race_view` has the
widget, and ``front/`` how it is drawn.
"""
