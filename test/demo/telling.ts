/** How the demos talk: titles, and requests and answers as a person would see them. */
export const say = (text: string): void => console.log(text);
export const title = (text: string): void => console.log(`\n── ${text} ${'─'.repeat(Math.max(4, 76 - text.length))}\n`);
export const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join('\n');

export interface Answer {
  readonly status: number;
  /** JSON as an object, anything else as text. */
  readonly body: unknown;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the service's address, with its query. */
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
  readonly accept?: string;
  /** As it is shown: shortened. */
  readonly shown?: string;
}

/** Shows the request as a person would make it, and the answer as it came. */
export async function ask(base: string, { method, path, body, type, accept, shown }: Request): Promise<Answer> {
  say(indented([`${method} ${decodeURIComponent(path)}`, ...(shown ?? '').split('\n').filter((line) => line !== '')]));
  const response = await fetch(base + path, {
    method,
    ...(body === undefined ? {} : { body }),
    headers: { ...(type === undefined ? {} : { 'content-type': type }), ...(accept === undefined ? {} : { accept }) },
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const answer = isJson ? (JSON.parse(text) as unknown) : text;
  const lines = isJson ? JSON.stringify(answer, null, 2) : text.trimEnd();
  say(indented([`→ ${response.status} ${response.statusText}`, ...lines.split('\n').filter((line) => line !== '')]));
  return { status: response.status, body: answer };
}

export function expectStatus(answer: Answer, status: number): void {
  if (answer.status !== status) throw new Error(`status ${status} was expected, ${answer.status} came`);
}
