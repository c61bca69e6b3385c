"""Who is where, told and asked over Dask's RPC."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from distributed.comm import connect

from pslab.cluster.registry import Registry


def with_registry(test: Callable[[Registry], Awaitable[None]]) -> Callable[[], None]:
    async def run() -> None:
        registry = await Registry()
        await registry.listen("tcp://127.0.0.1:0")
        try:
            async with asyncio.timeout(30):
                await test(registry)
        finally:
            await registry.close()

    def synchronous() -> None:
        asyncio.run(run())

    return synchronous


@contextlib.asynccontextmanager
async def task(registry: Registry, name: str, address: str) -> AsyncIterator[None]:
    """A task that announces itself, and is there until the block ends."""
    line = await connect(registry.address)
    await line.write({"op": "announce", "task": name, "address": address, "worker": "tcp://127.0.0.1:1", "pid": 1, "host": "127.0.0.1"})
    await line.read()
    yield
    line.abort()


@with_registry
async def test_a_task_is_there_as_long_as_its_connection(registry) -> None:
    assert await registry.rpc(registry.address).resolve(task="ps:0") is None
    async with task(registry, "ps:0", "a"):
        assert await registry.rpc(registry.address).resolve(task="ps:0") == "a"
        entry = registry.entries["ps:0"]
    await registry.lost("ps:0", entry)
    assert registry.resolve("ps:0") is None
    assert registry.entries["ps:0"].lost
    async with task(registry, "ps:0", "b"):
        assert registry.resolve("ps:0") == "b"
        assert registry.entries["ps:0"].restarts == 1


@with_registry
async def test_a_late_loss_of_the_former_does_not_hide_the_new_one(registry) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with task(registry, "ps:0", "old"):
            former = registry.entries["ps:0"]
            await stack.enter_async_context(task(registry, "ps:0", "new"))
        await registry.rpc(registry.address).identity()
        await asyncio.sleep(0)
        assert registry.entries["ps:0"] is not former
        assert registry.resolve("ps:0") == "new"


@with_registry
async def test_presence_is_waited_for(registry) -> None:
    waiting = asyncio.create_task(registry.present(("ps:0", "worker:0")))
    async with task(registry, "ps:0", "a"):
        assert registry.missing(("ps:0", "worker:0")) == ["worker:0"]
        assert not waiting.done()
        async with task(registry, "worker:0", "b"):
            await waiting


@with_registry
async def test_a_guest_is_claimed_by_its_worker_and_when_lost_by_one_other(registry) -> None:
    registry.guests["ps:0"] = "first"
    assert not registry.claim("ps:0", "second")
    assert registry.claim("ps:0", "first")
    async with task(registry, "ps:0", "a"):
        assert not registry.claim("ps:0", "second")
        entry = registry.entries["ps:0"]
    await registry.lost("ps:0", entry)
    assert registry.claim("ps:0", "second")
    assert not registry.claim("ps:0", "third")
    assert not registry.claim("ps:0", "first")
    async with task(registry, "ps:0", "b"):
        assert registry.entries["ps:0"].restarts == 1


@with_registry
async def test_what_is_forgotten_was_never_there(registry) -> None:
    async with task(registry, "worker:3", "a"):
        registry.forget("worker:3")
        assert registry.resolve("worker:3") is None
    async with task(registry, "worker:3", "b"):
        assert registry.entries["worker:3"].restarts == 0
