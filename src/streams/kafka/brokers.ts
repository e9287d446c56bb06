/** What the brokers say of topics, and what their errors mean. */
import type { Admin, ConfigResourceTypes } from 'kafkajs';
import { within } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import type { Client } from '../../kafka/client.ts';

const ANSWER_MS = 30_000;

/** Offsets of one partition. */
export interface Offsets {
  readonly topic: string;
  readonly partition: number;
  /** Of the first message that is kept. */
  readonly low: bigint;
  /** Behind the last one. */
  readonly high: bigint;
}

interface Configurations {
  readonly found: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly refused: readonly string[];
}

export class Brokers {
  readonly name: string;
  readonly #client: Client;
  #admin: Promise<Admin> | undefined;

  /** @param name for messages */
  constructor(client: Client, name: string) {
    this.#client = client;
    this.name = name;
  }

  /** @returns those that there are, sorted. @throws Fault — as `fault` */
  async existing(isWanted: (topic: string) => boolean): Promise<readonly string[]> {
    return (await this.#ask((admin) => admin.listTopics())).filter(isWanted).sort();
  }

  /** @throws Fault — as `fault` */
  async offsets(topics: readonly string[]): Promise<readonly Offsets[]> {
    const found = await this.#ask((admin) =>
      Promise.all(topics.map(async (topic) => [topic, await admin.fetchTopicOffsets(topic)] as const)),
    );
    return found.flatMap(([topic, partitions]) =>
      partitions.map(({ partition, low, high }) => ({ topic, partition, low: BigInt(low), high: BigInt(high) })),
    );
  }

  /** By partition, the offset of the first message that was written at a time or later; where there is none, the end. @throws Fault — as `fault` */
  async offsetsAt(topic: string, milliseconds: number): Promise<ReadonlyMap<number, bigint>> {
    const found = await this.#ask((admin) => admin.fetchTopicOffsetsByTimestamp(topic, milliseconds));
    return new Map(found.map(({ partition, offset }) => [partition, BigInt(offset)]));
  }

  /**
   * Values of the configuration of topics, by topic and name.
   *
   * @returns `refused`: topics whose configuration the login may not read
   * @throws Fault — as `fault`
   */
  async configurations(topics: readonly string[], names: readonly string[]): Promise<Configurations> {
    if (topics.length === 0) return { found: new Map(), refused: [] };
    const resources = topics.map((name) => ({ type: TOPIC_RESOURCE, name, configNames: [...names] }));
    try {
      const { resources: found } = await this.#ask((admin) => admin.describeConfigs({ resources, includeSynonyms: false }));
      const valuesOf = ({ configEntries }: (typeof found)[number]) =>
        new Map(configEntries.map(({ configName, configValue }) => [configName, configValue] as const));
      return { found: new Map(found.map((one) => [one.resourceName, valuesOf(one)])), refused: [] };
    } catch (error) {
      const fault = Fault.of(error);
      if (fault.code !== 'source/refused' && rootOf(fault.cause).name !== 'KafkaJSServerDoesNotSupportApiKey') throw error;
      const [first, ...others] = topics as [string, ...string[]];
      if (others.length === 0) return { found: new Map(), refused: [first] };
      // One topic that is refused is the answer for all.
      const found = new Map<string, ReadonlyMap<string, string>>();
      const refused: string[] = [];
      for (const topic of topics) {
        const one = await this.configurations([topic], names);
        for (const [name, values] of one.found) found.set(name, values);
        refused.push(...one.refused);
      }
      return { found, refused };
    }
  }

  /** @returns false: it has a member. @throws Fault — as `fault`; where it has a member and `isLast` */
  async removeGroup(groupId: string, isLast: boolean): Promise<boolean> {
    try {
      await this.#ask((admin) => admin.deleteGroups([groupId]));
      return true;
    } catch (error) {
      const { groups = [] } = rootOf(error) as KafkaError & { readonly groups?: readonly { readonly errorCode: number }[] };
      if (groups.some(({ errorCode }) => errorCode === GROUP_ID_NOT_FOUND)) return true;
      if (!isLast && groups.some(({ errorCode }) => errorCode === NON_EMPTY_GROUP)) return false;
      throw error;
    }
  }

  async close(): Promise<void> {
    const admin = this.#admin;
    this.#admin = undefined;
    await admin?.then((one) => one.disconnect()).catch(() => undefined);
  }

  /**
   * Errors of the client library as a fault.
   *
   * - source/unreadable — the brokers cannot be reached, or fail
   * - source/refused — they refuse the login, or the rights on a topic or a group
   */
  fault(error: unknown): Fault {
    if (error instanceof Fault) return error;
    const root = rootOf(error);
    const { name, message, type } = root;
    const isLogin = name === 'KafkaJSSASLAuthenticationError';
    const isRefused = isLogin || /AUTHORIZATION_FAILED$/.test(type ?? '');
    return new Fault(isRefused ? 'source/refused' : 'source/unreadable', `${this.name} cannot be read: ${message}`, {
      place: { input: this.name },
      hint: isLogin
        ? 'Check user and password'
        : isRefused
          ? 'The user needs the rights Read and Describe on the topics, and Read on the group'
          : 'Check that the brokers run, and their addresses',
      cause: error,
    });
  }

  async #ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    try {
      this.#admin ??= this.#connect();
      const answer = await within(ANSWER_MS, this.#admin.then(question), () => undefined);
      if (answer !== undefined) return answer;
      throw new Error(`no answer for ${ANSWER_MS / 1000} s`);
    } catch (error) {
      await this.close();
      throw this.fault(error);
    }
  }

  async #connect(): Promise<Admin> {
    const admin = this.#client(FEW_RETRIES).admin();
    await admin.connect();
    return admin;
  }
}

/** Codes of the protocol. */
const TOPIC_RESOURCE: ConfigResourceTypes.TOPIC = 2;
const NON_EMPTY_GROUP = 68;
const GROUP_ID_NOT_FOUND = 69;

/** Some seconds; the caller asks again. */
const FEW_RETRIES = 5;

interface KafkaError {
  readonly name: string;
  readonly message: string;
  readonly type?: string;
  readonly cause?: unknown;
}

function rootOf(error: unknown): KafkaError {
  const one = error as KafkaError;
  return one.cause === undefined ? one : rootOf(one.cause);
}
