package com.example.fleet;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.cloud.consul.ConsulAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** A process of its own: takes a permit at each line of its input, and prints what becomes of it. */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({
    DataRedisAutoConfiguration.class,
    ConsulAutoConfiguration.class,
    DataSourceAutoConfiguration.class,
    DistributedPermitAutoConfiguration.class
})
public class HoldingApplication {

    private static final long LOOK_MILLIS = 20;

    /** The settings are arguments. */
    public static void main(String[] settings) throws IOException, InterruptedException {
        var context = new SpringApplicationBuilder(HoldingApplication.class)
                .web(WebApplicationType.NONE)
                .run(settings);
        Permits permits = context.getBean(Permits.class);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        print("READY");
        for (String key = in.readLine(); key != null; key = in.readLine()) {
            Permit permit =
                    permits.named("fleet").acquire(permits.named("fleet").request(key));
            permit.onLoss(() -> print("LOST"));
            print("HELD");
            while (permit.isHeld()) {
                Thread.sleep(LOOK_MILLIS);
            }
            print("GONE");
        }
        context.close();
    }

    private static synchronized void print(String line) {
        System.out.println("## " + line);
        System.out.flush();
    }
}
