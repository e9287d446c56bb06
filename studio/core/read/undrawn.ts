/** Why something is kept as text. */
export class Undrawn {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
