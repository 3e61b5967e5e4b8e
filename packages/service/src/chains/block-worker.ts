import { answerJobs } from "../lib/workers/worker.ts";
import { runWork } from "./block-work.ts";

answerJobs(async (module, [name, args]) => runWork(await import(module), name as string, args as readonly unknown[]));
