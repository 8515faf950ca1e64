import type { BuildOptions } from 'esbuild';

export const BUNDLE_OPTIONS: BuildOptions;
export function ensureBuilt(): Promise<void>;
export function buildBundles(): Promise<void>;
export function buildTypes(): void;
