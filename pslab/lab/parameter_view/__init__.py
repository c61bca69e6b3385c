"""The parameter view: where the replicas and the ps go in parameter space, seen in a plane over the loss, while they train.

`follow` looks at the training now and then; `planes` chooses the plane; `window` how much of it is seen; `watch` has all of it together with the surface, and
says what has changed. `view` has the widget, and ``front/`` how it is drawn.
"""
