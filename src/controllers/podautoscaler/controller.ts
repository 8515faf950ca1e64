import type { Controller } from '../runtime/controller.ts';
import { HorizontalPodAutoscalerController } from './horizontal-pod-autoscaler-controller.ts';

/** Changes the number of pods with their load. */
export const horizontalPodAutoscalerController: Controller = {
  name: 'horizontal-pod-autoscaler-controller',
  aliases: ['horizontalpodautoscaling'],
  enabledByDefault: true,
  start: (context) => new HorizontalPodAutoscalerController(context),
};
