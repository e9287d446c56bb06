/** TLS of the HTTP server: the pair of TLS_CERT and TLS_KEY, loaded again when the files change. */
import type { Server } from 'node:https';
import type { Snapshot } from '../../src/config/options/options.ts';
import { type KeyPair, readKeyPair } from '../../src/config/pem.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';

type TlsFiles = Pick<Snapshot, 'TLS_CERT' | 'TLS_KEY'>;

/** How often the files are read: mounted secrets are replaced by way of links, which watching a file does not notice. */
const RELOAD_MS = 2_000;

/** @throws Fault config/invalid — as `readKeyPair` */
export const readServerPair = ({ TLS_CERT, TLS_KEY }: TlsFiles): KeyPair | undefined =>
  readKeyPair({ option: 'TLS_CERT', path: TLS_CERT }, { option: 'TLS_KEY', path: TLS_KEY });

export const contextOf = ({ cert, key }: KeyPair) => ({ cert, key, minVersion: 'TLSv1.2' }) as const;

/**
 * New connections get the pair that the files hold, open ones keep theirs. With a pair that cannot be used the last one stays, and the log
 * says so once. Stops with the server.
 */
export function reloadPair(server: Server, files: TlsFiles, first: KeyPair, logger: Logger): void {
  let current = first;
  let trouble: string | undefined;
  let reported: string | undefined;
  const tell = ({ certificate }: KeyPair, message: string): void => {
    const until = Date.parse(certificate.validTo);
    METRICS.tlsExpiry.set(until / 1000);
    const said = { subject: certificate.subject, until: new Date(until).toISOString() };
    if (until < Date.now()) logger.warn(said, 'TLS certificate has ended');
    else logger.info(said, message);
  };
  const look = (): void => {
    try {
      const next = readServerPair(files);
      if (next !== undefined && (next.cert !== current.cert || next.key !== current.key)) {
        server.setSecureContext(contextOf(next));
        current = next;
        METRICS.tlsReloads.inc({ result: 'loaded' });
        tell(next, 'TLS certificate loaded again');
      }
      trouble = reported = undefined;
    } catch (error) {
      const { message } = Fault.of(error);
      // Between the writing of one file and the other the pair does not match, so the second look counts.
      if (message === trouble && message !== reported) {
        reported = message;
        METRICS.tlsReloads.inc({ result: 'failed' });
        logger.error({ error }, 'TLS certificate not loaded: the last one stays in use');
      }
      trouble = message;
    }
  };
  tell(first, 'TLS certificate loaded');
  const looking = setInterval(look, RELOAD_MS);
  looking.unref();
  server.on('close', () => clearInterval(looking));
}
