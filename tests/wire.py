"""A way to a server that can be slow and can be cut: wire.py PORT TO BYTES_PER_SECOND passes on what comes for one port
of this machine to another.

SIGUSR1 cuts it: connections are silent from then on, for ever, and new ones are refused. SIGUSR2 mends it for new ones.
"""

import asyncio
import signal
import sys


class Wire:
    def __init__(self, port, to, rate):
        self.port, self.to, self.rate = port, to, rate
        self.cuts, self.listener, self.free = 0, None, 0.0

    async def listen(self):
        self.listener = await asyncio.start_server(self.connected, "127.0.0.1", self.port, backlog=64)

    async def connected(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            writer.close()
            return
        made = self.cuts
        # those that write are kept in both tasks: nothing is closed behind a cut
        await asyncio.gather(
            self.carry(reader, far_writer, made, slow=False), self.carry(far_reader, writer, made, slow=True)
        )

    async def carry(self, reader, writer, made, slow):
        loop = asyncio.get_running_loop()
        try:
            while data := await reader.read(4096 if slow else 65536):
                if slow:
                    # all connections share the rate
                    self.free = max(self.free, loop.time()) + len(data) / self.rate
                    await asyncio.sleep(self.free - loop.time())
                while self.cuts != made:
                    await asyncio.sleep(3600)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        while self.cuts != made:
            await asyncio.sleep(3600)
        writer.close()

    def cut(self):
        self.cuts += 1
        self.listener.close()
        self.listener = None

    def mend(self):
        self.mending = asyncio.ensure_future(self.listen())


async def main():
    wire = Wire(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, wire.cut)
    loop.add_signal_handler(signal.SIGUSR2, wire.mend)
    await wire.listen()
    await asyncio.sleep(86400)


asyncio.run(main())
