"""The data plane: how tasks send each other messages. Blocking sockets, a thread per connection."""

from pslab.runtime.transport.address import Address
from pslab.runtime.transport.channel import Channel
from pslab.runtime.transport.dialing import connect
from pslab.runtime.transport.inprocess import inprocess_pair
from pslab.runtime.transport.listener import Listener
from pslab.runtime.transport.message import Kind, Message
from pslab.runtime.transport.network import Duplex, Link, Network
from pslab.runtime.transport.port import Port, Sent

__all__ = ["Address", "Channel", "Duplex", "Kind", "Link", "Listener", "Message", "Network", "Port", "Sent", "connect", "inprocess_pair"]
