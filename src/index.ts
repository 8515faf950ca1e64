export type { Clock } from '#base';
