import { answerJobs } from "../workers/worker.ts";
import { runWork } from "./block-work.ts";
import { kindNamed } from "./registry.ts";

answerJobs((chain, [name, args]) => runWork(kindNamed(chain).work, name as string, args as readonly unknown[]));
