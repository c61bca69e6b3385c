"""Variable scopes: the part of a variable's name, and the defaults, that `get_variable` takes from around it."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype, float32
from pslab.graph.graph import Graph
from pslab.graph.variables import Variable
from pslab.layers.arguments import refuse
from pslab.layers.variable_store import Reuse, default_store

_INHERITED = ("initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype")


class VariableScope:
    """A prefix of variables' names, and defaults for `get_variable` within it (TensorFlow 1's ``tf.VariableScope``).

    Attributes:
        name: the prefix, without a slash at its end; empty at the root.
        original_name_scope: the name scope that the variable scope first opened, with a slash at its end.
        reuse: whether variables are shared: True, False or None, `AUTO_REUSE`.
        initializer: of variables that are given none.
        regularizer: of variables that are given none.
        caching_device: changes nothing.
        partitioner: of variables that are given none.
        custom_getter: a function that is called in place of the usual one, which it gets as its first argument.
        dtype: of variables that are given none.
    """

    def __init__(
        self,
        reuse: Reuse,
        name: str = "",
        initializer: Any = None,
        regularizer: Callable[[Any], Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Sequence[int]] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: DType | Any = float32,
    ) -> None:
        self.reuse = reuse
        self.name = name
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.original_name_scope = name_scope
        self.dtype = as_dtype(dtype)

    def reuse_variables(self) -> None:
        """From now on, within this scope, share variables that are there, and make none."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Set the initializer of variables that are given none."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Callable[[Any], Any] | None) -> None:
        """Set the regularizer of variables that are given none."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Set the caching device, which changes nothing."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Callable[..., Sequence[int]] | None) -> None:
        """Set the partitioner of variables that are given none."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any] | None) -> None:
        """Set the function that is called in place of the usual one."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: DType | Any) -> None:
        """Set the dtype of variables that are given none."""
        self.dtype = as_dtype(dtype)

    def global_variables(self) -> list[Variable]:
        """The global variables of this scope."""
        return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, f"{self.name}/" if self.name else None)

    def trainable_variables(self) -> list[Variable]:
        """The trainable variables of this scope."""
        return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, f"{self.name}/" if self.name else None)

    def get_variable(self, name: str, dtype: DType | Any = None, initializer: Any = None, reuse: Reuse = None, **options: Any) -> Any:
        """The variable ``name`` of this scope: see `pslab.get_variable`."""
        if dtype is not None and initializer is not None and not callable(initializer):
            found = convert_to_tensor(initializer).dtype
            if found is not as_dtype(dtype):
                raise GraphError(f"variable {name!r}: the initial value is {found.name}, but dtype={as_dtype(dtype).name} was asked for")
        for option in ("regularizer", "partitioner"):
            if options.get(option) is None:
                options[option] = getattr(self, option)
        getter: Callable[..., Any] = default_store().get_variable
        if self.custom_getter is not None:
            getter = functools.partial(self.custom_getter, getter)
        with get_default_graph().name_scope(None):  # a variable's name depends on variable scopes alone
            return getter(
                name=f"{self.name}/{name}" if self.name else name,
                dtype=self.dtype if dtype is None else dtype,
                initializer=self.initializer if initializer is None else initializer,
                reuse=self.reuse if reuse is None else reuse,
                **options,
            )


class _Scopes:
    """The variable scope of a graph that is open, and how often each name was opened since its outer one was."""

    def __init__(self) -> None:
        self.current = VariableScope(False)
        self.opened = Counter[str]()

    def meant(self, name_or_scope: str | VariableScope | None, default_name: str) -> tuple[VariableScope, str, str]:
        """What a name or a scope stands for: the scope whose settings hold, the full name, and the name of the name scope."""
        if isinstance(name_or_scope, VariableScope):
            return name_or_scope, name_or_scope.name, name_or_scope.name.rpartition("/")[2]
        if name_or_scope is None:
            return self.current, self._full(self._unique(default_name)), default_name
        return self.current, self._full(name_or_scope), name_or_scope

    def _unique(self, prefix: str) -> str:
        """``prefix``, or with the first number behind it that was not opened yet within the current scope."""
        name, count = prefix, 0
        while self.opened[self._full(name)]:
            count += 1
            name = f"{prefix}_{count}"
        return name

    def _full(self, name: str) -> str:
        """``name`` with the current scope before it."""
        return f"{self.current.name}/{name}" if self.current.name else name

    @contextmanager
    def entered(self, scope: VariableScope, again: bool) -> Iterator[VariableScope]:
        """Make ``scope`` the current one; ``again`` tells that its object was given, so that the counts within are to be as they were."""
        outer, self.current = self.current, scope
        self.opened[scope.name] += 1
        before = self.opened.copy()
        try:
            yield scope
        finally:
            self.current = outer
            if again:
                self.opened = before
            else:
                for name in [n for n in self.opened if n.startswith(f"{scope.name}/")]:
                    del self.opened[name]


_COLLECTION = "__variable_scopes"


def _scopes(graph: Graph) -> _Scopes:
    found = graph.get_collection(_COLLECTION)
    if not found:
        graph.add_to_collection(_COLLECTION, _Scopes())
        return _scopes(graph)
    return found[0]  # type: ignore[no-any-return]


def get_variable_scope() -> VariableScope:
    """The default graph's variable scope that is open."""
    return _scopes(get_default_graph()).current


@contextmanager
def variable_scope(
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    values: Sequence[Any] | None = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Sequence[int]] | None = None,
    custom_getter: Callable[..., Any] | None = None,
    reuse: Reuse = None,
    dtype: DType | Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """Prefix the names of variables that `get_variable` makes in the block, and set defaults for it. Ops go into a name scope of the same name.

    Args:
        name_or_scope: a name that prolongs the current scope's; or a scope object, to open that one again; None for ``default_name``.
        default_name: a name that is made unique within the current scope.
        values: tensors, of whose graph the scope is.
        initializer: of variables that are given none, as all the following.
        regularizer: a function from a variable to a loss, or None.
        caching_device: changes nothing.
        partitioner: a function from a shape and a dtype to a number of parts per axis.
        custom_getter: a function that is called in place of `get_variable`'s own, which it gets as its first argument.
        reuse: True shares variables that are there, and makes none; `AUTO_REUSE` shares or makes; False or None inherits the outer scope's.
        dtype: element type.
        use_resource: changes nothing.
        constraint: must be None.
        auxiliary_name_scope: whether to open a name scope.

    Raises:
        GraphError: neither a name nor a default one, or ``reuse=True`` with a default one, of which nobody knows what it will be.
    """
    refuse(constraint=constraint)
    if name_or_scope is None and default_name is None:
        raise GraphError("variable_scope needs a name, a scope, or a default_name")
    if name_or_scope is None and reuse:
        raise GraphError(f"reuse={reuse} needs a name: default_name={default_name!r} is made unique", "give name_or_scope=")
    if name_or_scope is not None and not isinstance(name_or_scope, str | VariableScope):
        raise TypeError(f"a variable scope is opened by a name or a scope, not by {type(name_or_scope).__name__}")
    graph = next((v.graph for v in values or () if hasattr(v, "graph")), None) or get_default_graph()
    scopes = _scopes(graph)
    like, name, of_ops = scopes.meant(name_or_scope, str(default_name))
    settings = {field: getattr(like, field) for field in _INHERITED}
    changes = {"initializer": initializer, "regularizer": regularizer, "caching_device": caching_device, "partitioner": partitioner, "dtype": dtype}
    settings.update({field: value for field, value in changes.items() if value is not None})
    if custom_getter is not None:
        settings["custom_getter"] = _within(custom_getter, like.custom_getter)
    naming = graph.name_scope(of_ops) if auxiliary_name_scope and of_ops else nullcontext(graph._scope)
    with graph.as_default(), naming as name_scope:
        again = like is name_or_scope
        scope = VariableScope(reuse or like.reuse, name, name_scope=like.original_name_scope if again else name_scope, **settings)
        with scopes.entered(scope, again):
            yield scope


def _within(inner: Callable[..., Any], outer: Callable[..., Any] | None) -> Callable[..., Any]:
    """The getter of a scope whose outer one has a getter too: the inner one calls it."""
    if outer is None:
        return inner
    return lambda getter, *args, **kwargs: inner(functools.partial(outer, getter), *args, **kwargs)
