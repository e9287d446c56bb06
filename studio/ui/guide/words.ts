/** Sentences of the guided example. */
export const WORDS = {
  label: 'Guided example',
  step: (number: number, all: number): string => `Step ${number} of ${all}`,
  done: 'This is your graph',
  doneText:
    'Its statements stand in the preview, and the run has written all of them. Text shows the mapping that does it: you can edit it there as well.',
  undo: 'Undo',
  skip: 'Skip',
  leave: 'Leave',
  steps: {
    add: {
      title: 'Add two files',
      text: 'A shop has orders, each with lines, and the people who order. Both files are small and come with the studio.',
      hint: 'Add input lets you choose files of your own; later, that is the way.',
    },
    identify: {
      title: 'Choose an identifier',
      text: 'In the inputs, drag the field id of the orders to the canvas and choose Entity; or select it and press E. Each order becomes a thing with an IRI.',
      hint: 'The key sign says that the values of id are all different.',
    },
    describe: {
      title: 'Give it attributes',
      text: 'Drag date and total onto the new block; or select both and press A. Then accept the suggestions above the canvas: predicates from the names, datatypes from the values.',
      hint: 'Without a predicate an attribute says nothing yet.',
    },
    connect: {
      title: 'Connect two entities',
      text: 'Open lines, make an entity of sku, and drag from the port of the order to it; or press C on the order. Say what the edge means, such as contains.',
      hint: 'An edge runs from an order to its own lines. The other way is refused: try it.',
    },
    run: {
      title: 'Run it',
      text: 'Save the model, then Run and Start: all records are mapped, and the statements are written to a file.',
      hint: 'The preview below shows what the first records give, and clicking a statement shows the record behind it.',
    },
  },
  addFiles: 'Add the two files',
  adding: 'Adding …',
} as const;
