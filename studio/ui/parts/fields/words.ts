/** Sentences about fields of inputs. */
export const WORDS = {
  flat: 'flat',
  different: (values: number, objects: number): string => `different in ${values} of ${objects} records`,
  empty_: (share: string): string => `${share} have no value`,
  item: (number: number): string => `item ${number}`,
  otherItems: 'other items …',
  kinds: { integer: 'int', decimal: 'dec', double: 'double', boolean: 'yes/no', date: 'date', dateTime: 'date and time', text: 'text' },
  list: 'list',
  object: 'object',
} as const;
