"""Update rules against loops written down from TensorFlow 1's documentation, in scalar Python arithmetic per element."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pslab.optim import rules

STEPS = 7


def gradient_descent(w, gradients, lr):
    for g in gradients:
        w = w - lr * g
    return w


def momentum(w, gradients, lr, mu, nesterov):
    a = 0.0
    for g in gradients:
        a = mu * a + g
        w = w - (lr * g + mu * lr * a if nesterov else lr * a)
    return w


def adagrad(w, gradients, lr, initial):
    a = initial
    for g in gradients:
        a += g * g
        w -= lr * g / math.sqrt(a)
    return w


def adadelta(w, gradients, lr, rho, epsilon):
    accum = accum_update = 0.0
    for g in gradients:
        accum = rho * accum + (1 - rho) * g * g
        step = math.sqrt(accum_update + epsilon) / math.sqrt(accum + epsilon) * g
        accum_update = rho * accum_update + (1 - rho) * step * step
        w -= lr * step
    return w


def ftrl(w, gradients, lr, power, l1, l2, shrinkage, initial):
    accum, linear = initial, 0.0
    for g in gradients:
        before, accum = accum, accum + g * g
        linear += g + 2 * shrinkage * w - (accum**-power - before**-power) / lr * w
        quadratic = accum**-power / lr + 2 * l2
        w = (math.copysign(l1, linear) - linear) / quadratic if abs(linear) > l1 else 0.0
    return w


def rmsprop(w, gradients, lr, decay, mu, epsilon, centered):
    ms, mg, mom = 1.0, 0.0, 0.0
    for g in gradients:
        ms = decay * ms + (1 - decay) * g * g
        mg = decay * mg + (1 - decay) * g
        mom = mu * mom + lr * g / math.sqrt(ms - (mg * mg if centered else 0.0) + epsilon)
        w -= mom
    return w


def adam(w, gradients, lr, beta1, beta2, epsilon):
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        w -= lr * math.sqrt(1 - beta2**t) / (1 - beta1**t) * m / (math.sqrt(v) + epsilon)
    return w


CASES = {
    "gradient_descent": (rules.GradientDescent(0.3), lambda w, g: gradient_descent(w, g, 0.3)),
    "momentum": (rules.Momentum(0.1, 0.9), lambda w, g: momentum(w, g, 0.1, 0.9, False)),
    "nesterov": (rules.Momentum(0.1, 0.9, use_nesterov=True), lambda w, g: momentum(w, g, 0.1, 0.9, True)),
    "adagrad": (rules.Adagrad(0.5), lambda w, g: adagrad(w, g, 0.5, 0.1)),
    "adagrad from 1": (rules.Adagrad(0.5, initial_accumulator_value=1.0), lambda w, g: adagrad(w, g, 0.5, 1.0)),
    "adadelta": (rules.Adadelta(1.0, 0.9, 1e-4), lambda w, g: adadelta(w, g, 1.0, 0.9, 1e-4)),
    "ftrl": (rules.Ftrl(0.3), lambda w, g: ftrl(w, g, 0.3, -0.5, 0.0, 0.0, 0.0, 0.1)),
    "ftrl, regularised": (rules.Ftrl(0.3, -0.7, 0.8, 0.2, 0.3, 0.2), lambda w, g: ftrl(w, g, 0.3, -0.7, 0.8, 0.2, 0.3, 0.2)),
    "rmsprop": (rules.RMSProp(0.05), lambda w, g: rmsprop(w, g, 0.05, 0.9, 0.0, 1e-10, False)),
    "rmsprop with momentum": (
        rules.RMSProp(0.05, decay=0.8, momentum=0.7, epsilon=1e-3),
        lambda w, g: rmsprop(w, g, 0.05, 0.8, 0.7, 1e-3, False),
    ),
    "rmsprop centered": (
        rules.RMSProp(0.05, decay=0.8, momentum=0.7, epsilon=1e-3, centered=True),
        lambda w, g: rmsprop(w, g, 0.05, 0.8, 0.7, 1e-3, True),
    ),
    "adam": (rules.Adam(), lambda w, g: adam(w, g, 0.001, 0.9, 0.999, 1e-8)),
    "adam, other betas": (rules.Adam(0.1, 0.5, 0.7, 1e-2), lambda w, g: adam(w, g, 0.1, 0.5, 0.7, 1e-2)),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def train(rule, parameter, gradients):
    slots = rules.init(rule, np, parameter)
    for gradient in gradients:
        parameter, slots = rule.update(np, parameter, slots, gradient)
    return parameter, slots


def problem(shape, dtype):
    rng = np.random.default_rng(3)
    return rng.normal(size=shape).astype(dtype), [rng.normal(size=shape).astype(dtype) for _ in range(STEPS)]


@each_case
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("shape", [(3, 2), (4,), (), (0, 2)])
def test_follows_the_documented_formula(case, dtype, tolerance, shape):
    rule, reference = case
    start, gradients = problem(shape, dtype)
    found, slots = train(rule, start, gradients)
    expected = [reference(float(w), [float(g[index]) for g in gradients]) for index, w in np.ndenumerate(start)]
    np.testing.assert_allclose(found.ravel(), expected, rtol=tolerance, atol=tolerance)
    for array in (found, *slots):
        assert isinstance(array, np.ndarray)
        assert array.dtype == dtype
    assert found.shape == shape
    assert [s.shape for s in slots] == [() if s.scalar else shape for s in rule.slots()]


@each_case
def test_writes_to_nothing_that_it_was_given(case):
    rule, _ = case
    parameter, gradients = problem((3, 2), "float64")
    slots = rules.init(rule, np, parameter)
    for array in (parameter, *slots, *gradients):
        array.setflags(write=False)
    after, new = rule.update(np, parameter, slots, gradients[0])
    arrays = [after, *new]
    assert not any(np.shares_memory(array, given) for array in arrays for given in (parameter, *slots, gradients[0]))
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


@each_case
def test_hyper_parameters_may_be_scalars_of_the_parameters_dtype(case):
    rule, _ = case
    start, gradients = problem((5,), "float32")
    as_arrays = rule._replace(**{f: np.asarray(v, "float32") for f, v in rule._asdict().items() if type(v) is float})
    expected, _ = train(rule, start, gradients)
    found, _ = train(as_arrays, start, gradients)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_slots_start_as_in_tensorflow():
    parameter = np.full((2,), 7.0, "float32")
    assert rules.init(rules.GradientDescent(0.1), np, parameter) == ()
    (accumulator,) = rules.init(rules.Adagrad(0.1), np, parameter)
    np.testing.assert_array_equal(accumulator, np.full((2,), 0.1, "float32"))
    accum, linear = rules.init(rules.Ftrl(0.1, initial_accumulator_value=0.2), np, parameter)
    assert (accum.tolist(), linear.tolist()) == (np.full(2, 0.2, "float32").tolist(), [0, 0])
    assert [s.tolist() for s in rules.init(rules.Adadelta(0.1), np, parameter)] == [[0, 0], [0, 0]]
    rms, mg, momentum = rules.init(rules.RMSProp(0.1, centered=True), np, parameter)
    assert (rms.tolist(), mg.tolist(), momentum.tolist()) == ([1, 1], [0, 0], [0, 0])
    m, v, beta1_power, beta2_power = rules.init(rules.Adam(0.1), np, parameter)
    assert (m.tolist(), v.tolist()) == ([0, 0], [0, 0])
    assert (beta1_power, beta2_power) == (np.float32(0.9), np.float32(0.999))


def test_adadelta_and_ftrl_do_as_tensorflow_did():
    """Values of TensorFlow's own optimizers after five steps."""
    start = np.array([0.5, -1, 2, 0], "float32")
    gradients = [np.sin(np.arange(4) * (i + 1) + i).astype("float32") for i in range(5)]
    found, (accum, _) = train(rules.Adadelta(1.0, 0.9, 1e-4), start, gradients)
    np.testing.assert_allclose(found, [0.45851, -1.05046, 1.96706, -0.07191], atol=2e-5)
    np.testing.assert_allclose(accum, [0.17766, 0.17822, 0.38870, 0.15408], atol=2e-5)
    found, (accum, linear) = train(rules.Ftrl(0.3, -0.7, 0.1, 0.2, 0.0, 0.2), start, gradients)
    np.testing.assert_allclose(found, [-0.29097, -0.82158, 1.00558, -0.19487], atol=2e-5)
    np.testing.assert_allclose(linear, [1.96848, 5.55510, -10.70767, 1.26869], atol=2e-5)
    found, _ = train(rules.Ftrl(0.3, -0.5, 0.5, 0.0, 0.3), start, gradients)
    np.testing.assert_allclose(found, [-0.17731, -0.36277, 0.35775, -0.04636], atol=2e-5)
