/** How much of the processor's time one turn of the event loop may take, on any input and on a machine that shares its cores. */
export const TURN_BUDGET_MS = Number(process.env.HOSTILE_TURN_MS ?? 500);
