// Go on to the page without the token in its address, and keep what the address says after #.

location.replace(`/${location.hash}`);
