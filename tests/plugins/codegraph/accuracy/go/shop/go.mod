module example.org/shop/v2

go 1.19

require example.org/money v1.0.0

replace example.org/money => ./money
