"""A convolutional network of tf.layers, with dropout that is fed and a rate that decays, as tutorials of 2018 wrote it."""

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets("MNIST_data", one_hot=False, reshape=False)
tf.set_random_seed(0)


def cnn_model_fn(features, training):
    conv1 = tf.layers.conv2d(inputs=features, filters=8, kernel_size=[5, 5], padding="same", activation=tf.nn.relu, name="conv1")
    pool1 = tf.layers.max_pooling2d(inputs=conv1, pool_size=[2, 2], strides=2)
    conv2 = tf.layers.conv2d(inputs=pool1, filters=16, kernel_size=5, padding="same", activation=tf.nn.relu)
    pool2 = tf.layers.max_pooling2d(inputs=conv2, pool_size=[2, 2], strides=2)
    dim = pool2.get_shape()[1].value * pool2.get_shape()[2].value * pool2.get_shape()[3].value
    batch = pool2.get_shape()[0].value or -1
    dense = tf.layers.dense(inputs=tf.reshape(pool2, [batch, dim]), units=64, activation=tf.nn.relu)
    dropout = tf.layers.dropout(inputs=dense, rate=0.4, training=training)
    return tf.layers.dense(inputs=dropout, units=10)


x = tf.placeholder(tf.float32, shape=(None, 28, 28, 1))
y = tf.placeholder(tf.int64, shape=(None,))
is_training = tf.placeholder_with_default(False, shape=())
logits = cnn_model_fn(x, is_training)
loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
global_step = tf.train.get_or_create_global_step()
learning_rate = tf.train.exponential_decay(0.002, global_step, 50, 0.9, staircase=True)
train_op = tf.train.AdamOptimizer(learning_rate=learning_rate).minimize(loss=loss, global_step=tf.train.get_global_step())
predictions = {"classes": tf.argmax(input=logits, axis=1), "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
accuracy = tf.reduce_mean(tf.cast(tf.equal(predictions["classes"], y), tf.float32))

for variable in tf.trainable_variables():
    print(variable.name, variable.get_shape().as_list())
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for _ in range(120):
        images, labels = mnist.train.next_batch(50)
        sess.run(train_op, feed_dict={x: images, y: labels, is_training: True})
    print("rate %.5f after %d" % (sess.run(learning_rate), tf.train.global_step(sess, global_step)))
    print("probabilities", sess.run(predictions, {x: mnist.test.images[:2]})["probabilities"].shape)
    print("accuracy %.4f" % sess.run(accuracy, {x: mnist.test.images, y: mnist.test.labels}))
