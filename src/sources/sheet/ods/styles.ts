/** What cells of an OpenDocument spreadsheet show, by the name of their style; and which tables their style hides. */
import type { Tokens } from '../package/tokens.ts';
import type { Shown } from '../values/number-format.ts';

interface Style {
  readonly parent: string | undefined;
  readonly data: string | undefined;
}

export class OdsStyles {
  readonly hiddenTables = new Set<string>();
  readonly #styles = new Map<string, Style>();
  readonly #data = new Map<string, Shown>();
  readonly #known = new Map<string, Shown | undefined>();
  #style = '';
  #dataStyle = '';

  open(name: string, tokens: Tokens): void {
    switch (name) {
      case 'style:style':
        this.#style = tokens.attribute('style:name') ?? '';
        this.#styles.set(this.#style, {
          parent: tokens.attribute('style:parent-style-name'),
          data: tokens.attribute('style:data-style-name'),
        });
        return;
      case 'style:table-properties':
        if (tokens.attribute('table:display') === 'false') this.hiddenTables.add(this.#style);
        return;
      case 'number:date-style':
        this.#dataStyle = tokens.attribute('style:name') ?? '';
        this.#data.set(this.#dataStyle, 'date');
        return;
      case 'number:time-style':
        this.#dataStyle = tokens.attribute('style:name') ?? '';
        this.#data.set(this.#dataStyle, tokens.attribute('number:truncate-on-overflow') === 'false' ? 'duration' : 'time');
        return;
      case 'number:hours':
      case 'number:minutes':
        if (this.#data.get(this.#dataStyle) === 'date') this.#data.set(this.#dataStyle, 'dateTime');
    }
  }

  /** undefined: the style does not tell. */
  shown(style: string): Shown | undefined {
    if (this.#known.has(style)) return this.#known.get(style);
    const seen = new Set<string>();
    let found: Shown | undefined;
    // Styles that inherit from each other in a circle tell nothing.
    for (let name: string | undefined = style; name !== undefined && !seen.has(name); name = this.#styles.get(name)?.parent) {
      seen.add(name);
      const data = this.#styles.get(name)?.data;
      if (data === undefined) continue;
      found = this.#data.get(data);
      break;
    }
    this.#known.set(style, found);
    return found;
  }
}
