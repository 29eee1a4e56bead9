"""How much storage a database needs: devices by data sheets or as measured, and the count that carries it."""
