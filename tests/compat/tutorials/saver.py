"""Moving averages, checkpoints that are rotated, and averages restored in place of variables."""

import os

import tensorflow as tf

logdir = "logs"
os.makedirs(logdir)


def build():
    with tf.variable_scope("layer1"):
        w = tf.get_variable("w", shape=[2, 3], initializer=tf.constant_initializer(1.5))
        b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    with tf.variable_scope("layer1", reuse=True):
        assert tf.get_variable("w", shape=[2, 3]) is w
    ema = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([w.assign_add(tf.ones_like(w))]):
        maintain = ema.apply([w])
    return w, b, ema, maintain


w, b, ema, maintain = build()
step = tf.Variable(0, name="global_step", trainable=False)
increment = tf.assign_add(step, 1)
saver = tf.train.Saver(max_to_keep=2)
with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    for _ in range(5):
        sess.run([maintain, increment])
        path = saver.save(sess, os.path.join(logdir, "model.ckpt"), global_step=step)
    print(os.path.basename(path), "w %.1f average %.6f" % (sess.run(w)[0, 0], sess.run(ema.average(w))[0, 0]), tf.train.global_step(sess, step))

tf.reset_default_graph()
w, b, ema, maintain = build()
ckpt = tf.train.get_checkpoint_state(logdir)
print([os.path.basename(p) for p in ckpt.all_model_checkpoint_paths])
with tf.Session() as sess:
    tf.train.Saver({ema.average_name(w): w}).restore(sess, tf.train.latest_checkpoint(logdir))
    print("restored %.6f" % sess.run(w)[0, 0])
    print(sorted(name for name, shape in tf.train.list_variables(logdir)))
    try:
        tf.train.Saver({"other": b}).restore(sess, ckpt.model_checkpoint_path)
    except tf.errors.NotFoundError:
        print("no other")
