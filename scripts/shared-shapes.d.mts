import type { Plugin } from 'esbuild';

export const sharedShapes: Plugin;
export function shareShapes(source: string): string;
export const LEADING_SPREAD: RegExp;
