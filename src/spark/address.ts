/**
 * The connection string of Spark Connect: `sc://HOST[:PORT]/;NAME=VALUE;…`.
 *
 * @see https://github.com/apache/spark/blob/master/sql/connect/docs/client-connection-string.md
 */
import { Fault } from '../core/fault.ts';
import { isLoopback } from '../core/reach/loopback.ts';

export interface SparkAddress {
  /** `host:port`. */
  readonly server: string;
  readonly tls: boolean;
  readonly userId: string;
  /** What Spark shows of its client. */
  readonly agent: string;
  /** Sent with each request; they may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

const PORT = 15_002;
const NAME = 'quadmill';
const FORM = 'sc://HOST:PORT/;NAME=VALUE;…';

/** Parameters that Spark documents, of which a client that opens one session and takes small answers has no use. */
const WITHOUT_USE: ReadonlySet<string> = new Set(['session_id', 'grpc_max_message_size']);

/**
 * A parameter that Spark does not know is a header of each request.
 *
 * @throws Fault config/invalid — its message has no value of a parameter, which may be a secret
 */
export function parseSparkAddress(text: string): SparkAddress {
  const [, authority, list = ''] = /^sc:\/\/([^/;?#@\s]+)(?:\/(;.*)?)?$/.exec(text) ?? [];
  const url = authority !== undefined && URL.canParse(`http://${authority}`) ? new URL(`http://${authority}`) : undefined;
  if (url === undefined) throw invalid(`is no address of a server, ${FORM}`);
  const { user_id: userId = NAME, user_agent: agent = NAME, token, use_ssl: useTls, ...headers } = parametersOf(list);
  if (useTls !== undefined && useTls !== 'true' && useTls !== 'false') throw invalid('has another use_ssl than true or false');
  const tls = useTls === undefined ? token !== undefined : useTls === 'true';
  if (token !== undefined && !tls && !isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
    throw invalid(`would send its token to ${url.hostname} without TLS: leave out use_ssl=false`);
  for (const [name, value] of Object.entries(headers)) {
    if (WITHOUT_USE.has(name)) throw invalid(`has the parameter ${name}, which is not supported: leave it out`);
    if (!/^[a-z0-9_.-]+$/.test(name) || name.startsWith('grpc-') || name.endsWith('-bin'))
      throw invalid(`has the parameter ${JSON.stringify(name)}, which is no name of a header`);
    if (!isHeaderText(value)) throw invalid(`has a value of ${name} that no header may have`);
  }
  if (token !== undefined && !isHeaderText(token)) throw invalid('has a token that no header may have');
  return {
    server: `${url.hostname}:${/:(\d+)$/.exec(authority as string)?.[1] ?? PORT}`,
    tls,
    userId,
    agent,
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
  };
}

const invalid = (problem: string): Fault => new Fault('config/invalid', `The address of Spark ${problem}`);

const isHeaderText = (value: string): boolean => /^[ -~]*$/.test(value);

function parametersOf(list: string): Readonly<Record<string, string>> {
  const parameters = new Map<string, string>();
  for (const one of list.split(';').filter((part) => part !== '')) {
    const equals = one.indexOf('=');
    const name = one.slice(0, equals);
    if (equals < 1) throw invalid(`has a parameter that is no NAME=VALUE: ${FORM}`);
    if (parameters.has(name)) throw invalid(`has the parameter ${name} twice`);
    try {
      parameters.set(name, decodeURIComponent(one.slice(equals + 1)));
    } catch (cause) {
      throw new Fault('config/invalid', `The address of Spark has a value of ${name} with a percent sign that encodes nothing: write %25`, {
        cause,
      });
    }
  }
  return Object.fromEntries(parameters);
}
