/** What URLs of special forms say, and how they are refused. */
import type { Fault } from '../../core/fault.ts';

export type Malformed = (what: string) => Fault;

export interface Login {
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** As it is written: `[::1]`; an empty host means this machine. */
export interface WrittenHost {
  readonly host: string;
  readonly port: string | undefined;
}

/** What a URL of another form says. */
export interface OwnLocation {
  readonly host: WrittenHost;
  readonly usualPort: number;
  readonly database: string | undefined;
  readonly login?: Login;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}
