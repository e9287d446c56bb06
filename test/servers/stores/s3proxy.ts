/** A dedicated S3Proxy for a test: object storage in a private directory, on a free port, gone when stopped. Needs Java, and once Maven. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Artifacts, discardJava, endJava, findJars, missingJars, startJava } from '../process/jars.ts';
import { freePort } from '../process/port.ts';

/** One shaded jar holds everything. */
const ARTIFACTS: Artifacts = {
  name: 's3proxy',
  dependencies: `<dependency><groupId>org.gaul</groupId><artifactId>s3proxy</artifactId><version>4.1.0</version>
    <classifier>jar-with-dependencies</classifier><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>`,
};

/** The login of every server. */
export const S3_KEYS = { access: 'a-test-key', secret: 'a-test-secret' } as const;

export interface S3Proxy {
  /** `http://127.0.0.1:port`; buckets stand in the path. */
  readonly endpoint: string;
  /** kill -9. */
  crash(): Promise<void>;
  /** After `crash`: on the same port, with the same objects. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Why no S3Proxy can be started here; undefined: one can. Fetches a jar that is not in the cache. */
export const missingS3Proxy = (): Promise<string | undefined> => missingJars(ARTIFACTS);

/** A fresh server without buckets. */
export async function startS3Proxy(): Promise<S3Proxy | { readonly skip: string }> {
  const missing = await missingS3Proxy();
  if (missing !== undefined) return { skip: missing };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-s3proxy-'));
  try {
    const port = await freePort();
    const endpoint = `http://127.0.0.1:${port}`;
    await mkdir(join(directory, 'objects'));
    const settings = {
      's3proxy.endpoint': endpoint,
      's3proxy.authorization': 'aws-v2-or-v4',
      's3proxy.identity': S3_KEYS.access,
      's3proxy.credential': S3_KEYS.secret,
      'jclouds.provider': 'filesystem-nio2',
      'jclouds.filesystem.basedir': join(directory, 'objects'),
    };
    await writeFile(
      join(directory, 'settings'),
      Object.entries(settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    const jvm = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', join(await findJars(ARTIFACTS), '*')];
    const parameters = [...jvm, 'org.gaul.s3proxy.Main', '--properties', 'settings'];
    const launch = () => startJava(parameters, directory, () => answers(endpoint));
    let running = await launch();
    return {
      endpoint,
      crash: () => endJava(running, 'SIGKILL'),
      async restart() {
        running = await launch();
      },
      stop: () => discardJava(running, directory),
    };
  } catch (error) {
    await discardJava(undefined, directory);
    throw error;
  }
}

/** Any answer: without a login it is a refusal. */
const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );
