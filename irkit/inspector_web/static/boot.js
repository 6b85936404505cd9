// The page as a server gives it.

import { start } from "./main.js";
import { ServerSource } from "./source/server.js";

start(new ServerSource());
