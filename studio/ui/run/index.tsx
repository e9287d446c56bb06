import type { ReactNode } from 'react';
import { Empty } from '../parts/empty.tsx';
import { WORDS } from './words.ts';

export default function RunRegion(): ReactNode {
  return <Empty title={WORDS.title}>{WORDS.empty}</Empty>;
}
