export function shareShapes(source: string): string;
export const LEADING_SPREAD: RegExp;
export const SPREAD_LITERAL: RegExp;
