"""CSV: the values are those that TensorFlow gives for the same records."""

from __future__ import annotations

import pytest

import pslab as tf
from pslab.errors import GraphError, InvalidArgumentError, ShapeError
from tests.data.pipelines import run

DEFAULTS = [[7], [0.5], ["d"]]


@pytest.mark.parametrize(
    ("records", "options", "values"),
    [
        (["1,2.5,a", "3,,b"], {}, [[1, 3], [2.5, 0.5], [b"a", b"b"]]),
        (['1, 2.5 ,"a,""b"'], {}, [[1], [2.5], [b'a,"b']]),
        ([",2,3"], {}, [[7], [2.0], [b"3"]]),
        (["NA,NA,NA", ",,"], {"na_value": "NA"}, [[7, 7], [0.5, 0.5], [b"d", b"d"]]),
        (['1;2;"3"'], {"field_delim": ";", "use_quote_delim": False}, [[1], [2.0], [b'"3"']]),
        (['1,2,"a\nb"'], {}, [[1], [2.0], [b"a\nb"]]),
        ([b"1,2,\xff\xc3\xa9"], {}, [[1], [2.0], [b"\xff\xc3\xa9"]]),
        ("1,2,x", {}, [1, 2.0, b"x"]),
        ([["1,2,x"], ["3,4,y"]], {}, [[[1], [3]], [[2.0], [4.0]], [[b"x"], [b"y"]]]),
    ],
)
def test_values(records, options, values):
    columns = tf.decode_csv(records, DEFAULTS, **options)
    assert [c.dtype for c in columns] == [tf.int32, tf.float32, tf.string]
    assert run(columns) == values


def test_shapes_and_types_are_known_before():
    records = tf.placeholder(tf.string, [None])
    columns = tf.decode_csv(records, [tf.constant([], tf.int64), tf.constant([0.0], tf.float64), 1])
    assert [(c.dtype, c.shape.as_list()) for c in columns] == [(tf.int64, [None]), (tf.float64, [None]), (tf.int32, [None])]


def test_some_columns():
    assert run(tf.decode_csv(["1,2,3,4", "5,6,7"], [[0], [0]], select_cols=[0, 2])) == [[1, 5], [3, 7]]


@pytest.mark.parametrize(
    ("record", "defaults", "options", "says"),
    [
        ("1,2", DEFAULTS, {}, "expected 3 fields, but record 1 has 2: '1,2'"),
        ("1,2,3,4", DEFAULTS, {}, "expected 3 fields, but record 1 has 4"),
        ("", DEFAULTS, {}, "expected 3 fields, but record 1 has 1"),
        ("x,2,3", DEFAULTS, {}, "field 0 in record 1: 'x' is not a valid int32"),
        ("0x10,1,", DEFAULTS, {}, "'0x10' is not a valid int32"),
        ("1_0,1,", DEFAULTS, {}, "'1_0' is not a valid int32"),
        ("99999999999,1,", DEFAULTS, {}, "'99999999999' is not a valid int32"),
        ("1,y,3", DEFAULTS, {}, "field 1 in record 1: 'y' is not a valid float32"),
        ('1,2,"a', DEFAULTS, {}, "record 1 cannot be read: unexpected end of data"),
        ('1,2,"a"b', DEFAULTS, {}, "record 1 cannot be read"),
        (",2,3", [tf.int32, [0.5], ["d"]], {}, "field 0 is required, but missing in record 1"),
        ("1", [[0]], {"select_cols": [2]}, "column 2 is selected, but record 1 has 1 fields"),
    ],
)
def test_records_that_do_not_fit(record, defaults, options, says):
    defaults = [tf.constant([], d) if isinstance(d, tf.DType) else d for d in defaults]
    good = "1,2,3" if "select_cols" not in options else "1,2,3,4"
    with pytest.raises(InvalidArgumentError, match=says):
        run(tf.decode_csv([good, record], defaults, **options))


def test_what_cannot_be_meant():
    with pytest.raises(GraphError, match="one character"):
        tf.decode_csv(["a"], [[""]], field_delim="ab")
    for delimiter in '"\n':
        with pytest.raises(GraphError, match="neither a quote nor the end of a line"):
            tf.decode_csv(["a"], [[""]], field_delim=delimiter)
    for defaults in ([], 3):
        with pytest.raises(GraphError, match="a default for each column, at least one"):
            tf.decode_csv(["a"], defaults, select_cols=[])
    for columns in ([0], [1, 0], [0, 0]):
        with pytest.raises(GraphError, match="select_cols must be 2 different columns in ascending order"):
            tf.decode_csv(["a"], [[""], [""]], select_cols=columns)
    with pytest.raises(ShapeError, match="records must be strings"):
        tf.decode_csv([1], [[""]])
    with pytest.raises(ShapeError, match="not bool"):
        tf.decode_csv(["a"], [[True]])
    with pytest.raises(ShapeError, match="a default is one value, or none"):
        tf.decode_csv(["a"], [[1, 2]])


def test_a_field_may_be_long():
    (text,) = tf.decode_csv(tf.constant(["a" * 200_000]), [[""]])
    with tf.Session() as sess:
        assert sess.run(text).tolist() == [b"a" * 200_000]
