"""The message catalogue for Chinese."""

from __future__ import annotations

from collections.abc import Mapping

CHINESE: Mapping[str, str] = {
    # headings
    "Mode": "模式",
    "Cluster": "集群",
    "Steps": "步",
    "Straggler": "慢节点",
    "Links": "网络连接",
    # how the replicas work together
    "Replication": "复制方式",
    "Who builds the graph: each worker, or one client": "由谁建图：每个 worker 各建一张，或由一个客户端统一建",
    "Update": "更新规则",
    "When what workers commit is applied; local: steps of their own, then an average": "worker 提交的内容何时生效；local：各走几步，再取平均",
    "Backups": "备份数",
    "How many of the slowest workers a step does without": "每一步可以不等几个最慢的 worker",
    "Staleness": "陈旧度",
    "How many steps one worker may be ahead of the slowest": "一个 worker 最多可比最慢者领先几步",
    "k": "k",
    "How many contributions make an update": "收到几份提交就更新一次",
    "Microbatches": "微批数",
    "How many parts a batch is cut into": "一个批次切成几份",
    "Local steps": "本地步数",
    "After how many steps of their own the workers' parameters are averaged": "各自走多少步之后，对各 worker 的参数取平均",
    "Locks": "加锁",
    "locks": "加锁",
    "no locks": "不加锁",
    "One at a time, or as they come (Hogwild)": "逐个更新，或随到随改（Hogwild）",
    "Aggregation": "聚合方式",
    "What becomes of several contributions; weighted: by their examples": "多份提交如何合并；weighted：按样本数加权",
    "Commit": "提交内容",
    "What a worker commits: its gradient, or what became of a copy of its own": "worker 提交什么：梯度，或自己那份参数的变化",
    "Commit every": "提交间隔",
    "commit every {}": "每 {} 步提交一次",
    "After how many of its steps a worker commits": "worker 每走多少步提交一次",
    "Compression": "压缩",
    "no compression": "不压缩",
    "How commits are made smaller": "如何减小提交的数据量",
    # the cluster
    "Workers": "worker 数",
    "{} workers": "{} 个 worker",
    "How many replicas compute gradients": "有几个副本在计算梯度",
    "Servers (ps)": "参数服务器 (ps)",
    "{} ps": "{} 个 ps",
    "How many tasks the parameters are spread over": "参数分布在几个任务上",
    # steps
    "Learning rate": "学习率",
    "rate {:g}": "学习率 {:g}",
    "How far a step goes along the gradient": "每一步沿梯度走多远",
    "The optimizer was made by a function, which alone knows its rate": "优化器由函数生成，学习率只有该函数知道",
    "Batch size": "批大小",
    "batch {}": "批大小 {}",
    "Examples per worker and step; one number, or one per worker: 64, 32": "每个 worker 每步的样本数；一个数，或每个 worker 一个：64, 32",
    # stragglers
    "Slow worker": "慢的 worker",
    "{} slower by {}": "{} 每步慢 {}",
    "nobody slow": "没有慢节点",
    "Who takes longer in each step; several by their own menus below": "谁每步更慢；若有几个，可用下方各自的菜单",
    "By": "慢多少",
    "How much longer: the mean, of Pareto the least": "多花的时间：平均值；Pareto 为最小值",
    "In each step": "每步的分布",
    "All alike, many short and few long (exponential), or with a heavy tail (Pareto)": "每步相同，多短少长（exponential），或重尾（Pareto）",
    # links
    "Which": "哪条连接",
    "Which link the next two are about": "下面两项针对哪条连接",
    "Bandwidth": "带宽",
    "Of each task's port; of one link, of a cable of its own: 100 Mbit/s, 12 MB/s": "每个任务端口的带宽；单条连接则为其专线：100 Mbit/s, 12 MB/s",
    "Latency": "延迟",
    "From the leaving of a byte to its arrival: 1 ms, 200 us": "一个字节从发出到到达的时间：1 ms, 200 us",
}
