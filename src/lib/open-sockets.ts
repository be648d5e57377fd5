/** The sockets of a server, those on which TLS has not begun among them: Node's closeAllConnections knows HTTP alone. */
import type { Server, Socket } from 'node:net';

export interface OpenSockets {
  /** What is sent on them is cut off. A server that was told to close then does. */
  destroyAll(): void;
}

/** Call before the server listens. */
export function trackSockets(server: Server): OpenSockets {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    destroyAll() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
