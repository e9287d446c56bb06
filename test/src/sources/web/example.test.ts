/** The example of docs/web-apis.md, as it stands there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { readLogins } from '../../../../src/storage/logins.ts';
import { PROJECT_ROOT } from '../../../support/project-root.ts';
import { secrets } from '../../../support/secrets.ts';
import { makeRuns, startAnswering } from './running.ts';

const page = readFileSync(join(PROJECT_ROOT, 'docs/web-apis.md'), 'utf8');
const block = (language: string): string => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)?.[1] as string;

test('the example of the page about Web APIs gives the statements that stand there', async () => {
  const runs = makeRuns();
  const [api, login] = [await startAnswering(), await startAnswering()];
  try {
    const send = (body: unknown) => (response: Parameters<typeof api.answer>[1]) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    login.answer = (_, response) => send({ access_token: 't', token_type: 'Bearer', expires_in: 60 })(response);
    const pages: Readonly<Record<string, unknown>> = {
      '/v2/people?per_page=2': JSON.parse(block('json')),
      '/v2/people?per_page=2&after=2': { data: [{ id: 3, name: 'Katherine' }], links: { next: null } },
    };
    api.answer = (request, response) => {
      const found = request.headers.authorization === 'Bearer t' ? pages[request.url as string] : undefined;
      if (found === undefined) response.writeHead(403).end();
      else send(found)(response);
    };
    const here = (text: string): string =>
      text
        .replaceAll('https://api.example.org', api.origin)
        .replaceAll('login.example.org', new URL(login.origin).host)
        .replace('OAuth2 https:', 'OAuth2 http:');
    const [, entry] = /SOURCE_LOGINS='(.*)'/.exec(block('sh')) as unknown as readonly [string, string];
    const web = { ...RUN_DEFAULTS.web, logins: readLogins(secrets([here(entry)])) };
    const { lines } = await runs.run(here(block('turtle')), { web });
    expect(lines).toEqual(block('nquads').trimEnd().split('\n'));
    expect(api.seen.map(({ path }) => path)).toEqual(Object.keys(pages));
    expect(login.seen[0]?.body).toBe('grant_type=client_credentials&scope=people.read');
  } finally {
    await Promise.all([api.stop(), login.stop()]);
    runs.remove();
  }
});
