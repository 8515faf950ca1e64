export type { Clock, TimerHandle } from './clock.ts';
export { realClock } from './clock.ts';
