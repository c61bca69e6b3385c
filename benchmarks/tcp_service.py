"""A task that its peers on the same machine reach over TCP only."""

from pslab.train.service import TaskService


class TcpTaskService(TaskService):
    """See `TaskService`."""

    unix = False
