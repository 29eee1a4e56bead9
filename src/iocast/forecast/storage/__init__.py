"""How much storage a database needs: devices by their data sheets or by a measured run, and the count that carries it."""
