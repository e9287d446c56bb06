/** Answers to what is no HTTP request, or arrives too slowly or with too many headers: Node gives no request to the application then. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Fault } from '../../src/core/fault.ts';
import { observeRequest } from '../../src/core/telemetry/observe.ts';
import { PROBLEM_TYPE, problemAnswer } from '../problem.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** The handler of `clientError`. */
export function refuseRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // A client that is gone, or an answer that has begun.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = problemAnswer(faultOf(error), { path: '', id: randomUUID() });
  const text = JSON.stringify(body);
  const all = {
    ...SECURITY_HEADERS,
    ...headers,
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  observeRequest({ route: 'none', method: 'other', status, seconds: 0 });
}

function faultOf({ code }: NodeJS.ErrnoException): Fault {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Fault('request/headers', 'The request line and the headers together are too large', {
        hint: 'The option MAX_HEADER_BYTES says how large they may be',
      });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Fault('request/timeout', 'The request did not arrive in time', {
        hint: 'The option REQUEST_TIMEOUT_SECONDS says how long it may take',
      });
    default:
      return new Fault('request/malformed', 'That is not a well-formed HTTP request');
  }
}
