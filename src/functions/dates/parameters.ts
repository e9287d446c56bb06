/** Parameters of functions on dates, which check what they are given. */
import { checked, grel, idlab, own, qm, withDefault } from '../names.ts';
import { readIso, unitOf } from './moment.ts';
import { monthNames } from './names.ts';
import { checkDatePattern, checkWrittenPattern } from './pattern.ts';
import { offsetAt } from './zone.ts';

const pattern = own('pattern', 'string', 'grel:param_string_pattern', 'grel:p_string_pattern', 'grel:param_regex', 'grel:p_string_regex');

/** Texts that are dates themselves, and units of time. */
export const dates = {
  dateTime: checked(grel.dateTime, readIso),
  dateTime2: checked(grel.dateTime2, readIso),
  date: checked(grel.date, readIso),
  timeUnit: checked(grel.timeUnit, unitOf),
  unit: checked(grel.unit, unitOf),
  grelPattern: checked(grel.pattern, checkDatePattern),
  idlabPattern: checked(idlab.pattern, checkDatePattern),
  idlabLanguage: checked(idlab.lang, monthNames),
  pattern: checked(pattern, checkDatePattern),
  writtenPattern: checked(pattern, checkWrittenPattern),
  zone: checked(qm.zone, (zone) => offsetAt(zone, 0)),
  language: checked(withDefault(qm.language, 'en'), monthNames),
} as const;
