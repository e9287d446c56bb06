/** Sentences of the palette, and the list of keys. */
export const WORDS = {
  title: 'Find anything',
  find: 'Element, field or command',
  results: 'What was found',
  none: (text: string): string => `Nothing is named like “${text}”.`,
  sorts: { entity: 'entity', attribute: 'attribute', input: 'input', field: 'field', command: 'command' },
  keysTitle: 'Keys',
  close: 'Close',
} as const;

/** On a Mac, ⌘ takes the place of Ctrl. */
export const KEYS: readonly (readonly [group: string, rows: readonly (readonly [keys: string, does: string])[]])[] = [
  [
    'Everywhere',
    [
      ['F6, Shift+F6', 'next, previous region'],
      ['Ctrl+K', 'find an element, field or command'],
      ['?', 'this list'],
      ['Ctrl+\\', 'canvas, split, text'],
      ['Ctrl+S', 'save'],
      ['Ctrl+Z, Ctrl+Shift+Z, Ctrl+Y', 'undo, redo'],
      ['F12', 'from what is selected to its text'],
      ['Esc', 'close what is open'],
    ],
  ],
  [
    'Text',
    [
      ['Ctrl+Space', 'complete'],
      ['Ctrl+F', 'find'],
      ['F8, Shift+F8', 'next, previous problem'],
      ['Ctrl+Shift+M', 'list of problems'],
      ['F12', 'to the canvas'],
      ['Esc, then Tab', 'leave the text'],
    ],
  ],
  [
    'Inputs',
    [
      ['↑ ↓ Home End, letters', 'move, find'],
      ['→ ←, *', 'open, close; open all neighbours'],
      ['Space, Shift+↑ ↓, Shift+click', 'select more'],
      ['Enter', 'menu'],
      ['E, A', 'make an entity, an attribute of the field'],
      ['C or J', 'connect the field to something, join'],
      ['G', 'switch grouping of the input'],
    ],
  ],
  [
    'Outline',
    [
      ['↑ ↓ → ←', 'move, open, close'],
      ['Enter', 'menu'],
      ['C', 'connect: list of everything with the reason why not'],
      ['R', 'reverse the edge'],
      ['F2', 'rename'],
      ['Ctrl+D', 'duplicate'],
      ['Del', 'remove'],
    ],
  ],
];
